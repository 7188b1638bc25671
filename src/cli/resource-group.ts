/** The API group with what all wings add, for the commands that read policies or check them. */
import type { ResourceGroup } from '../service/resources/resource-group.ts';
import { wings } from '../wings.ts';

/** Loads it: the start of other commands should not wait for the schemas of all kinds. */
export async function readGroup(): Promise<ResourceGroup> {
  const { groupOf } = await import('../service/resources/resource-group.ts');
  return groupOf(wings);
}
