/** The definitions of the kinds that wings add to the API group. */
import { definitionsOf } from '../../src/service/resources/definitions.ts';
import { groupOf } from '../../src/service/resources/resource-group.ts';
import { wings } from '../../src/wings.ts';

const { kinds } = await groupOf(wings);
export const addedDefinitions = definitionsOf(kinds);
