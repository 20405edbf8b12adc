"""The page that shows a model: `document` gathers its contents, `page` writes them as HTML."""
