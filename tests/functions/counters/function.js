function OnUpdate(doc, meta) {
  couchbase.increment(dst, {id: 'up'});
  const down = couchbase.decrement(dst, {id: 'down'});
  dst['text'] = 'x';
  log(down.doc.count, couchbase.increment(dst, {id: 'text'}).error.not_number);
}
