/** Settings about the namespaces of policies. They have the shape of the fields of a policy, and are checked by the same rules. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { readSettings } from '../resources/read-spec.ts';
import { withRules } from '../resources/rules.ts';
import { duration, name } from '../resources/v1-fields/scalars.ts';
import { labelSelector } from '../resources/v1-fields/target.ts';
import { rollout, window } from '../resources/v1-fields/update.ts';
import { settingProblems } from '../resources/validation/spec-problems.ts';
import { builtInSettings, type NamespaceRules, type SettingValues } from '../../core/model/policy-defaults.ts';

/** Adds the rules of policies to the schema of a setting; reports everything that is wrong with its value. */
function checkedAsPolicy<T extends z.ZodType>(schema: T) {
  return z.preprocess((value, context) => {
    const problems = settingProblems(schema, value);
    for (const { keys, message } of problems) context.addIssue({ code: 'custom', path: [...keys], message });
    return problems.length === 0 ? value : z.NEVER;
  }, schema);
}

const values = {
  poll: z
    .object({ interval: duration('How often the registry is polled for images that no webhook announced.').exactOptional() })
    .exactOptional()
    .describe('For policies without `spec.poll.interval`.'),
  minAge: duration('For policies without `spec.minAge`: how long a digest must have been known before it is applied.').exactOptional(),
  windows: z
    .array(window)
    .max(32)
    .exactOptional()
    .describe(
      'For policies without `spec.update.windows` (BaseImagePolicies: `spec.windows`): when workloads may be changed. A policy that says `windows: []` has none.',
    ),
  rollout: rollout.exactOptional().describe('For ImagePolicies without `spec.rollout`: what happens after a workload was changed.'),
};

const ofNamespaces = withRules(
  z
    .object({
      names: z.array(name('A namespace.')).min(1).max(1_000).exactOptional().describe('The namespaces, by name.'),
      selector: labelSelector('Namespace', 'The namespaces, by label. Not together with `watch.namespaces`.').exactOptional(),
      ...values,
    })
    .describe('The defaults of some namespaces.'),
  [
    {
      rule: 'has(self.names) || has(self.selector)',
      message: 'matches no namespace: write names or selector',
    },
  ],
);

/** Schema of the setting `policyDefaults`. */
export const policyDefaults = checkedAsPolicy(
  z
    .object({
      ...values,
      namespaces: z
        .array(ofNamespaces)
        .max(1_000)
        .default([])
        .describe(
          'Defaults that count for some namespaces only. For each setting, the first entry counts that matches the namespace and has the setting. Their fields are those above.',
        ),
    })
    .describe(
      'Values for what ImagePolicies and BaseImagePolicies leave out. The value of a policy wins, then the default of its namespace, then that of the cluster, then the built-in one. Defaults are not limits: see [Many namespaces](many-namespaces.md).',
    ),
).prefault({});

/** Schema of the setting `watch.namespaceSelector`. */
export const namespaceSelector = checkedAsPolicy(
  labelSelector(
    'Namespace',
    'Only policies and targets in namespaces with these labels are considered. Policies come and go with the labels, without a restart. Not together with `namespaces`. See [Many namespaces](many-namespaces.md).',
  ),
).optional();

type PolicyDefaults = z.output<typeof policyDefaults>;

interface NamespaceSettings {
  readonly policyDefaults: PolicyDefaults;
  readonly poll: { readonly interval: number };
  readonly watch: { readonly namespaceSelector?: z.output<typeof namespaceSelector> };
}

/** The rules of the configuration about the namespaces of policies. `poll.interval` is the default of the cluster for polls, unless policyDefaults has one. */
export function namespaceRulesOf(config: NamespaceSettings): NamespaceRules {
  const { namespaces, ...ofCluster } = config.policyDefaults;
  const { interval } = config.poll;
  const { namespaceSelector: selector } = config.watch;
  const cluster: SettingValues = {
    ...(interval !== builtInSettings.poll && { poll: interval }),
    ...readSettings(ofCluster, ofCluster.windows),
  };
  return {
    ...defined({ selector }),
    cluster,
    namespaces: namespaces.map(({ names, selector, ...written }) => ({
      ...defined({ names, selector }),
      values: readSettings(written, written.windows),
    })),
  };
}
