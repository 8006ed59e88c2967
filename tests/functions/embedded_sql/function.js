function OnUpdate(doc, meta) {
  dst[`row::${meta.id}`] = {v: doc.v};
  const low = 2;
  const rows = SELECT RAW d.v FROM dst d WHERE d.v >= $low ORDER BY d.v;
  for (const row of rows) {
    log(row);
  }
}
