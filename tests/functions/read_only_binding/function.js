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
    // The words of Couchbase, which some handlers compare.
    source: [
      () => { own['a'] = 1; },
      () => { delete own['a']; },
      () => couchbase.upsert(own, {id: 'a'}, 1),
      () => couchbase.increment(own, {id: 'a'}),
      () => couchbase.delete(own, {id: 'a'}),
      () => couchbase.touch(own, {id: 'a'}),
    ].map(message),
  };
}
