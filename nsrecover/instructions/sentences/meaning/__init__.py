"""What statements and questions say about what is to be done."""
