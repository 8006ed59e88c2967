function OnUpdate(doc, meta) {
    var rpc = window.XMLHttpRequest(); // Not allowed - browser extension.
}
