// A day before an appointment there is a message for the patient. A timer is named by its callback
// and its reference, here the appointment's key: setting it again moves it.
function OnUpdate(appointment, meta) {
  const at = new Date(appointment.at);
  const remindAt = new Date(at.getTime() - hours_before * 3600 * 1000);
  if (at > new Date()) {
    createTimer(Remind, remindAt, meta.id, { appointment: meta.id });
  } else {
    cancelTimer(Remind, meta.id); // it is over
  }
}

function OnDelete(meta) {
  cancelTimer(Remind, meta.id);
}

// Called with the context that was given to createTimer, as soon as its time has come: at once if
// it has come already, and after a restart if the server was down then.
function Remind(context) {
  const appointment = appointments[context.appointment];
  if (appointment === undefined) return;
  messages[context.appointment] = {
    to: appointment.patient,
    text: `Your appointment is at ${appointment.at}.`,
  };
}
