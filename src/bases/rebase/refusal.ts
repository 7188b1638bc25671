/** Why an image is not rebased. */

/** `reason`: a stable word. `rules`: the names that `allow` must contain for the image to be rebased anyway; empty if nothing helps. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: string;
  readonly message: string;
  readonly rules: readonly string[];
}

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

/** A refusal that nothing overrides. */
export function refuse(reason: (typeof finalReasons)[number], message: string): Refusal {
  return { kind: 'refused', reason, message, rules: [] };
}

/** Whether a value is a refusal. */
export function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refused';
}
