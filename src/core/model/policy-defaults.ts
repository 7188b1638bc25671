/**
 * Where the settings of a policy come from that it may leave out: its own value wins, then the default of its namespace, then that of the cluster, then the
 * built-in one. A default is a value that the author of the policy could have written, so it never lets a policy do more.
 */
import type { PolicySpec, RolloutSettings, UpdateWindow } from './image-policy.ts';
import { matchesSelector, type LabelSelector } from './label-selector.ts';

/** The settings that have defaults. */
export const defaultedSettings = ['poll', 'minAge', 'windows', 'rollout'] as const;
export type DefaultedSetting = (typeof defaultedSettings)[number];

/** Where the value of a setting comes from. */
export type Origin = 'policy' | 'namespace' | 'cluster' | 'built-in';
export type Origins = Readonly<Record<DefaultedSetting, Origin>>;

/** What `spec.rollout` means. */
export interface RolloutDefault {
  /** Undefined: rollouts are not watched. */
  readonly settings: RolloutSettings | undefined;
  readonly maxParallel?: number;
}

/** Values for some of the settings. */
export interface SettingValues {
  readonly poll?: number;
  readonly minAge?: number;
  readonly windows?: readonly UpdateWindow[];
  readonly rollout?: RolloutDefault;
}

/** Without `rollout` in the spec, rollouts are watched and failures reported, but nothing is rolled back, as in v1alpha1. */
export const builtInSettings = {
  poll: 3_600_000,
  windows: [],
  rollout: { settings: { timeoutMs: 600_000, onFailure: 'Ignore' } },
} as const satisfies SettingValues;

/** The namespaces that an entry is about: by name, by label, or both. */
export interface NamespaceMatch {
  readonly names?: readonly string[];
  readonly selector?: LabelSelector;
}

/** The defaults of some namespaces. */
export type NamespaceDefaults = NamespaceMatch & { readonly values: SettingValues };

/** What the configuration says about the namespaces of policies. */
export interface NamespaceRules {
  /** Only policies and targets in namespaces with these labels are considered; undefined: all. */
  readonly selector?: LabelSelector;
  readonly cluster: SettingValues;
  /** For each setting, the first entry counts that matches the namespace and has the setting. */
  readonly namespaces: readonly NamespaceDefaults[];
}

/** All namespaces, without any defaults. */
export const noNamespaceRules: NamespaceRules = { cluster: {}, namespaces: [] };

/** The labels of a namespace; undefined while they are not known, or if there is no such namespace. */
export type Labels = Readonly<Record<string, string>> | undefined;

/** Whether the labels of namespaces decide anything. */
export function needsLabels({ selector, namespaces }: NamespaceRules): boolean {
  return selector !== undefined || namespaces.some((one) => one.selector !== undefined);
}

/** Whether policies and targets of a namespace are considered. A namespace whose labels are not known is not selected. */
export function isSelected({ selector }: NamespaceRules, labels: Labels): boolean {
  return selector === undefined || (labels !== undefined && matchesSelector(selector, labels));
}

/** Why a policy does nothing, or why a target is not changed. */
export function notSelected(namespace: string): string {
  return `namespace ${namespace} is not selected by watch.namespaceSelector of the configuration: label the Namespace as it asks for`;
}

/** Why nothing happens to the policies of a namespace that is not in the list of the configuration. */
export function notWatched(namespace: string): string {
  return `namespace ${namespace} is not one of watch.namespaces of the configuration: add it there`;
}

/** The entries that match a namespace, in their order. */
export function matchingDefaults({ namespaces }: NamespaceRules, namespace: string, labels: Labels): readonly SettingValues[] {
  const matches = ({ names = [], selector }: NamespaceMatch) =>
    names.includes(namespace) || (selector !== undefined && labels !== undefined && matchesSelector(selector, labels));
  return namespaces.filter(matches).map(({ values }) => values);
}

/** The spec with the defaults of its namespace and of the cluster for all that the policy itself does not say; the same object where there are none. */
export function withDefaults(spec: PolicySpec, ofNamespace: readonly SettingValues[], ofCluster: SettingValues): PolicySpec {
  const layers: readonly (readonly [Origin, SettingValues])[] = [
    ...ofNamespace.map((values) => ['namespace', values] as const),
    ['cluster', ofCluster],
  ];
  const find = (setting: DefaultedSetting) =>
    spec.origins[setting] === 'policy' ? undefined : layers.find(([, values]) => values[setting] !== undefined);
  const [poll, minAge, windows, rollout] = [find('poll'), find('minAge'), find('windows'), find('rollout')];
  if ([poll, minAge, windows, rollout].every((found) => found === undefined)) return spec;
  const { rollout: _, maxParallel: __, ...rest } = spec;
  return {
    ...rest,
    pollIntervalMs: poll?.[1].poll ?? spec.pollIntervalMs,
    ...(minAge?.[1].minAge !== undefined && { minAgeMs: minAge[1].minAge }),
    windows: windows?.[1].windows ?? spec.windows,
    ...rolloutOf(
      rollout?.[1].rollout ?? { settings: spec.rollout, ...(spec.maxParallel !== undefined && { maxParallel: spec.maxParallel }) },
    ),
    origins: {
      poll: poll?.[0] ?? spec.origins.poll,
      minAge: minAge?.[0] ?? spec.origins.minAge,
      windows: windows?.[0] ?? spec.origins.windows,
      rollout: rollout?.[0] ?? spec.origins.rollout,
    },
  };
}

/** The two fields of a spec that `rollout` decides. */
export function rolloutOf({ settings, maxParallel }: RolloutDefault): Pick<PolicySpec, 'rollout' | 'maxParallel'> {
  return { ...(settings !== undefined && { rollout: settings }), ...(maxParallel !== undefined && { maxParallel }) };
}
