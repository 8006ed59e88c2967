function OnUpdate(doc, meta, xattrs) {
  // Whatever is no string becomes the key's text.
  const made = [123, 4.5, true, null].map((id) => couchbase.insert(dst, {id}, 1).meta.id);
  const stale = couchbase.replace(dst, {id: 123, cas: '1'}, 2).error;
  dst['seen'] = {
    made,
    stale,
    exists: couchbase.insert(dst, {id: 123}, 1).error.desc,
    removed: couchbase.delete(dst, {id: true}),
    xattrs,
  };
}
