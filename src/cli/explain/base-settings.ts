/** The settings of a BaseImagePolicy that have defaults: their values, and the origin of each. */
import { z } from 'zod';
import { baseSettings } from '../../core/model/policy-defaults.ts';
import type { Config } from '../../service/config/settings.ts';
import { settingRows, settingsOf } from '../../service/explain/settings.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { readSettings } from '../../service/resources/read-spec.ts';
import { windows } from '../../service/resources/v1-fields/update.ts';
import { minAge, poll } from '../../service/resources/v1-fields/watch.ts';
import { createNamespaceScope } from './namespace-rules.ts';

/** What a policy has written of them. */
const written = z.object({
  spec: z.object({ minAge: minAge.exactOptional(), poll: poll.exactOptional(), windows: windows.exactOptional() }),
});

interface BaseSettings {
  /** The rows that people read. */
  readonly rows: ReturnType<typeof settingRows>;
  /** The same settings as a value, for programs. */
  readonly settings: Partial<ReturnType<typeof settingsOf>>;
  /** What could not be found out. */
  readonly doubt?: string | undefined;
}

/** Reads them; undefined where the service does not consider the namespace, or where a setting cannot be read. A base has waves, and no `rollout`. */
export async function readBaseSettings(
  client: KubeClient,
  namespace: string,
  raw: unknown,
  config: Config,
): Promise<BaseSettings | undefined> {
  const found = written.safeParse(raw).data;
  if (found === undefined) return undefined;
  const scope = createNamespaceScope(client, config);
  await scope.read([namespace]);
  if (!scope.isConsidered(namespace)) return undefined;
  const { ofNamespace, ofCluster } = scope.defaultsOf(namespace);
  const spec = baseSettings(readSettings(found.spec, found.spec.windows, 'spec.'), ofNamespace, ofCluster);
  const { rollout: _, ...settings } = settingsOf(spec);
  return { rows: settingRows(spec).filter(({ name }) => name !== 'rollout'), settings, doubt: scope.doubt([namespace]) };
}
