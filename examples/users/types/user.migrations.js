// One phone becomes a list of phones. The old one's kind was never asked for: "other".
module.exports = {
  '2.0 -> 3.0'(doc, meta) {
    const {phone, ...rest} = doc;
    const number = String(phone).replace(/\D/g, '');
    if (number.length !== 10) throw new Error(`${meta.id} has an invalid phone number: ${phone}`);
    return {...rest, _schema: meta.to, phones: [{type: 'other', number}]};
  },

  // For programs that still ask for 2.0: the first phone is the phone.
  '3.0 -> 2.0'(doc, meta) {
    const {phones, ...rest} = doc;
    return {...rest, _schema: meta.to, phone: phones.length > 0 ? phones[0].number : null};
  },
};
