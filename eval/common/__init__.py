"""What several evaluation commands share."""
