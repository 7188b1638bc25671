import { type Config, registryAliases } from '../service/config/settings.ts';
import type { ReadContext } from '../service/resources/read-spec.ts';
import { readGroup } from './resource-group.ts';

/** The context for reading policies, as in the service. Whether names of approvers are verified is known to the service alone, whose status says so. */
export async function readContextOf(config: Config): Promise<ReadContext> {
  const { olderVersions } = await readGroup();
  return { aliases: registryAliases(config), customTargets: config.customTargets, olderVersions, verifiesApprovers: true };
}
