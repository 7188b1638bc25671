/** The names of the rules that a rebase is checked by, as `allow` lists them. */
export const rebaseRules = [
  'UserChanged',
  'EntrypointChanged',
  'EnvironmentChanged',
  'WorkingDirectoryChanged',
  'PortsChanged',
  'VolumesChanged',
  'OnBuildChanged',
  'OperatingSystemChanged',
  'AbiChanged',
  'MajorVersionChanged',
  'SignatureLost',
  'SignatureAdded',
  'BaseUnverified',
] as const;

export type RebaseRule = (typeof rebaseRules)[number];
