// Compiles only if the generated types say what calls take and give.
import type {components, paths} from './types.js';

type Query = paths['/query/service']['post'];
type Body = Query['requestBody']['content']['application/json'];
type Failure = components['schemas']['Error']['error'];

export const body: Body = {statement: 'SELECT 1', timeout: '10s', metrics: false};
export const where: paths['/v1/docs/{keyspace}/{key}']['get']['parameters']['path'] = {
  keyspace: 'shop',
  key: 'a',
};
export function told(failure: Failure): string {
  return `${failure.id}: ${failure.message}`;
}
// @ts-expect-error: a statement is a text
export const wrong: Body = {statement: 1};

type Trigger = components['schemas']['Trigger'];
type Deployed = paths['/_p/event/api/v1/status/{name}']['get']['responses']['200']['content'];
export const waiting = (trigger: Trigger): number => trigger.depth;
export const state = (answer: Deployed['application/json']): string => answer.app.composite_status;
type NewFunction =
  paths['/_p/event/api/v1/functions/{name}']['post']['requestBody']['content']['application/json'];
// @ts-expect-error: a function has code
export const noCode: NewFunction = {appname: 'copy'};
