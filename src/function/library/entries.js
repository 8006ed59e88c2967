// The functions that the server calls: one entry point for each kind of event.
(() => {
  'use strict';

  function metaOf(id, cas, vb, seq, datatype, expiration, bucket, scope, collection) {
    const meta = {
      id,
      cas,
      flags: 0,
      vb,
      seq,
      datatype,
      expiration,
      keyspace: { bucket_name: bucket, scope_name: scope, collection_name: collection },
    };
    if (expiration !== 0) meta.expiry_date = new Date(expiration * 1000);
    return meta;
  }

  return {
    update(doc, xattrs, op, previous, ...described) {
      // Handlers get the attributes of users, not those of the system.
      for (const name of Object.keys(xattrs)) if (name.startsWith('_')) delete xattrs[name];
      const meta = metaOf(...described);
      meta.op = op;
      if (previous !== undefined) meta.previous = previous;
      globalThis.OnUpdate(doc, meta, xattrs);
    },
    remove(expired, ...described) {
      globalThis.OnDelete(metaOf(...described), { expired });
    },
    deploy(reason, delay) {
      globalThis.OnDeploy({ reason, delay });
    },
    timer(name, context) {
      globalThis[name](context);
    },
  };
})
