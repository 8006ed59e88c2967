// Ends with 1 and the errors unless the file is a valid OpenAPI document.
import {readFile} from 'node:fs/promises';

import {Validator} from '@seriousme/openapi-schema-validator';

const document = JSON.parse(await readFile(process.argv[2], 'utf8'));
const result = await new Validator().validate(document);
if (!result.valid) {
  console.error(JSON.stringify(result.errors, null, 2));
  process.exit(1);
}
