function OnUpdate(doc, meta) {
  const now = new Date();
  class Later extends Date {}
  let sql = 0;
  for (const row of SELECT RAW NOW_MILLIS()) sql = row;
  dst[meta.id] = {
    now,
    same: [Date.now(), new Later().getTime(), sql].map((ms) => ms === now.getTime()),
    text: Date() === now.toString(),
    is: [now instanceof Date, new Later() instanceof Date, Date.name, Date.length],
    given: [new Date(0), new Date(2020, 1, 3).getMonth(), Date.UTC(1970, 0, 2), Date.parse('1970-01-01T00:00:01Z')],
  };
}
