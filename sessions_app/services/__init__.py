"""What a person can ask for: keyword-only functions, one transaction each, whatever face calls them."""
