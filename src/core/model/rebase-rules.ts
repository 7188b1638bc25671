/** The names of the rules for rebases, as `allow` lists them. */
export const rebaseRules = [
  'UserChanged',
  'EntrypointChanged',
  'LifecycleChanged',
  'EnvironmentChanged',
  'WorkingDirectoryChanged',
  'PortsChanged',
  'VolumesChanged',
  'OnBuildChanged',
  'OperatingSystemChanged',
  'DistributionChanged',
  'AbiChanged',
  'MajorVersionChanged',
  'SignatureLost',
  'SignatureAdded',
  'BaseUnverified',
] as const;

export type RebaseRule = (typeof rebaseRules)[number];

/** Reasons that `allow` does not override. */
export const finalReasons = [
  'NotFound',
  'NotAnImage',
  'Unreadable',
  'TooLarge',
  'LayersDiffer',
  'PlatformMissing',
  'ForeignLayers',
  'LayerFormat',
  'LayersElsewhere',
  'InvalidTag',
] as const;
