function OnUpdate(doc, meta) {
  var request = {
    path: '/person',
    params: {
      'action': 'create',
      'id': 23012
    },
    body: {
      'name': 'John Smith',
      'age': 25,
      'state': 'CA',
      'country': 'US',
    }
  };

  var response = curl('POST', profile_svc_binding, request);
  if (response.status == 200) {
    var profile_id = response.body.profile_id;
    log("Successfully created profile " + profile_id);
  }
}
