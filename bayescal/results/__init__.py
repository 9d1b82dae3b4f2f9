"""What a fit returns: its schema, how it is put together, read, summarised and kept."""
