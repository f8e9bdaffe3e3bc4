// Times the reference on a session file: opening it, its context for the model, the preparation of a compaction.
// Prints one line of JSON, medians in milliseconds.
//
//   PI_DIR/node_modules/.bin/node reference.mjs PI_DIR SESSION.jsonl RUNS

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [installed, file, runs] = process.argv.slice(2);
const core = resolve(installed, "node_modules/@earendil-works/pi-coding-agent/dist/core");
const module = (name) => import(pathToFileURL(join(core, name)).href);
const { SessionManager } = await module("session-manager.js");
const { prepareCompaction } = await module("compaction/compaction.js");
const settings = { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 };
const WARM_UP = 2;

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

// It may write to what it opens.
const folder = mkdtempSync(join(tmpdir(), "bench-reference-"));
const copy = join(folder, basename(file));
copyFileSync(file, copy);
const open = [];
const total = [];
for (let run = -WARM_UP; run < Number(runs); run++) {
  const begun = performance.now();
  const session = SessionManager.open(copy, dirname(copy), dirname(copy));
  const opened = performance.now();
  session.buildSessionContext();
  prepareCompaction(session.getBranch(), settings);
  const done = performance.now();
  if (run < 0) continue;
  open.push(opened - begun);
  total.push(done - begun);
}
rmSync(folder, { recursive: true });
console.log(JSON.stringify({ open: median(open), total: median(total) }));
process.exit(0);
