function OnUpdate(doc, meta) {
  if (meta.id === 'plain') {
    src['plain'] = {n: doc.n + 1};
  } else if (doc.n < 3) {
    couchbase.upsert(src, {id: meta.id}, {n: doc.n + 1}, {self_recursion: true});
  }
}
