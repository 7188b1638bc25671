/** The API group with the kinds of all wings, for the commands that read or check policies. */
import type { ResourceGroup } from '../service/resources/resource-group.ts';
import { wings } from '../wings.ts';

/** Imports the group, so that other commands do not wait for the schemas of all kinds. */
export async function readGroup(): Promise<ResourceGroup> {
  const { groupOf } = await import('../service/resources/resource-group.ts');
  return groupOf(wings);
}
