function OnDeploy() {
  log("Function was deployed:", new Date());
}
function OnUpdate(doc, meta) {
  log("Now processing: " + meta.id);
}
