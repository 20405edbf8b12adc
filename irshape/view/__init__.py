"""The page that shows a model: `document` gathers what it shows, `page` writes it as HTML."""
