package api

// RenderDocs renders the page of any document.
var RenderDocs = renderDocs
