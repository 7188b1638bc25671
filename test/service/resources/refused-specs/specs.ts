/** What the tables of wrong specs are made of. */

/** A wrong spec of v1 with one thing wrong: where it is, what we say, and what the API server says. */
export interface RefusedSpec {
  readonly name: string;
  readonly spec: unknown;
  readonly path: string;
  /** Part of our message. */
  readonly message: string;
  /** Part of the API server's; undefined for what only code can check. */
  readonly server?: string;
  readonly reason?: string;
}

export const deployment = { kind: 'Deployment', name: 'web' };
export const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'web' };
const plain = { image: 'harbor.example.com/shop/web', select: { semver: {} }, targets: [deployment] };

/** What makes a spec one for the chart of an Application. */
export const chartSpec = {
  artifact: 'Chart',
  targets: [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', name: 'web', fields: { tag: 'spec.source.targetRevision' } }],
};

/** A spec with which nothing is wrong, and other fields. */
export const specWith = (change: object = {}): object => ({ ...plain, ...change });
export const withTarget = (change: object, base: object = deployment) => specWith({ targets: [{ ...base, ...change }] });
export const withWindow = (change: object) => specWith({ update: { windows: [{ from: '09:00', to: '17:00', ...change }] } });
export const withSelector = (selector: object) => specWith({ targets: [{ kind: 'Deployment', selector }] });
export const withKeys = (keys: unknown) => specWith({ verify: { cosign: { keys } } });
export const withKeyless = (keyless: unknown) => specWith({ verify: { cosign: { keyless } } });
export const without = (field: string) => Object.fromEntries(Object.entries(plain).filter(([key]) => key !== field));
export const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));

/** The API server and we say the same. */
export const byRule = (name: string, spec: unknown, path: string, message: string): RefusedSpec => ({
  name,
  spec,
  path,
  message,
  server: message,
});
export const bySchema = (name: string, spec: unknown, path: string, server: string, message: string): RefusedSpec => ({
  name,
  spec,
  path,
  server,
  message,
});
export const byCode = (name: string, spec: unknown, path: string, message: string, reason = 'InvalidPolicy'): RefusedSpec => ({
  name,
  spec,
  path,
  message,
  reason,
});
