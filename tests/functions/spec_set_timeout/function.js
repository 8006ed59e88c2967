function OnUpdate(doc, meta) {
    setTimeout(function(){}, 300); // Not allowed - asynchronous flow.
}
