/** The API group of the whole product: with the kinds and versions of all wings. */
import { definitionsOf } from '../../src/service/resources/definitions.ts';
import type { ReadContext } from '../../src/service/resources/read-spec.ts';
import { groupOf } from '../../src/service/resources/resource-group.ts';
import { wings } from '../../src/wings.ts';

export const resources = await groupOf(wings);
export const { olderVersions } = resources;
/** The definitions of the kinds that wings add. */
export const addedDefinitions = definitionsOf(resources.kinds);

/** The definition of an added kind; throws for any other. */
export function addedDefinition(kind: string): (typeof addedDefinitions)[number] {
  const found = addedDefinitions.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no definition of ${kind}`);
  return found;
}

/** What reading a policy depends on, without configuration. */
export const readContext: ReadContext = { aliases: new Map(), customTargets: [], olderVersions };
