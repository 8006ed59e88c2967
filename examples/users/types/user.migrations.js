// One phone becomes a list of phones. The old one's kind was never asked for: "other".
module.exports = {
  '2.0 -> 3.0'(doc, meta) {
    const {phone, ...rest} = doc;
    // Where a program of 2.0 writes over a user of 3.0, `meta.stored` is that user. The program
    // knows of one phone only: the others stay, and a new one is added.
    const phones = meta.stored?.phones ?? [];
    if (phone === null && phones.length === 0) return {...rest, _schema: meta.to, phones};
    const number = String(phone).replace(/\D/g, '');
    if (number.length !== 10) throw new Error(`${meta.id} has an invalid phone number: ${phone}`);
    const known = phones.some((each) => each.number === number);
    return {...rest, _schema: meta.to, phones: known ? phones : [...phones, {type: 'other', number}]};
  },

  // For programs that still ask for 2.0: the first phone is the phone.
  '3.0 -> 2.0'(doc, meta) {
    const {phones, ...rest} = doc;
    return {...rest, _schema: meta.to, phone: phones.length > 0 ? phones[0].number : null};
  },
};
