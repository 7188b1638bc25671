import { readPolicy } from '../../service/resources/read-policy.ts';
import type { Config } from '../../service/config/settings.ts';
import { planNow, type PlannedNow, type Pushed } from '../../service/explain/plan-now.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { gatherForExplain } from './gather.ts';
import { readContextOf } from '../read-context.ts';
import { createNamespaceScope } from './namespace-rules.ts';

/** Plans a policy of the API server as the service would, using only what the caller may read. */
export async function planPolicy(client: KubeClient, raw: unknown, config: Config, pushed?: Pushed): Promise<PlannedNow> {
  const context = await readContextOf(config);
  const { consents, crossNamespace, guards } = config;
  const written = readPolicy(raw, context);
  const scope = createNamespaceScope(client, config);
  const considered = await scope.apply(written);
  const rules = { consents, crossNamespace, ...context, ...guards, scope };
  return planNow(considered, (policy, spec) => gatherForExplain(client, policy, spec, rules), pushed);
}
