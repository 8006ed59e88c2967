function OnUpdate(doc, meta) {
  log(Object.keys(meta).join(' '));
  log(meta.id, typeof meta.cas, meta.flags, typeof meta.vb, typeof meta.seq, meta.datatype);
  log(meta.expiration, meta.expiry_date, meta.keyspace);
}
