function message(what) {
  try {
    what();
    return 'nothing thrown';
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  dst[meta.id] = {
    read: look['there'],
    set: message(() => { look['a'] = 1; }),
    remove: message(() => { delete look['there']; }),
    insert: message(() => couchbase.insert(look, {id: 'a'}, 1)),
  };
}
