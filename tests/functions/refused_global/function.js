var count = 0;
function OnUpdate(doc, meta) {
  count++;
}
