"""What a worker does: claim a run, drive the loop, store and announce what happens, end it whatever comes."""
