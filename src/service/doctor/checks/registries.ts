import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';
import { say, type Said } from '../say.ts';

/** The registries of the policies, and the result of a request to each of them. */
export interface RegistryFacts {
  readonly probes: readonly RegistryProbe[];
  /** The number of registries, or of ways to access them, that were not requested, because their number is limited. */
  readonly notAsked: number;
}

/** One request on behalf of a policy. */
export interface RegistryProbe {
  readonly host: string;
  /** The repository of the request: `ghcr.io/shop/web`. */
  readonly repository: string;
  /** The policy whose credentials were used, as `NAMESPACE/NAME`. */
  readonly policy: string;
  readonly answer:
    | { readonly kind: 'read'; readonly credentials: string }
    | { readonly kind: 'unknown'; readonly credentials: string }
    /** The registry asked for a pause, or fails so often that it gets no requests. */
    | { readonly kind: 'postponed'; readonly why: string }
    | { readonly kind: 'failed'; readonly why: string }
    | { readonly kind: 'late' };
}

/** Checks that the registries of the policies can be read, and reports with which credentials. */
export const registries: Check<RegistryFacts> = {
  id: 'registries',
  lines: ['reachable', 'not-asked'],
  evaluate: ({ probes, notAsked }) => [
    ...(probes.length === 0
      ? [skipped('registries/reachable', say('registries.none'))]
      : probes.map((probe) => ({ ...evaluateProbe(probe), subject: probe.host }))),
    ...(notAsked > 0 ? [skipped('registries/not-asked', say('registries.notAsked', notAsked), say('registries.notAsked.do'))] : []),
  ],
};

function evaluateProbe({ host, repository, policy, answer }: RegistryProbe): Finding {
  const line = 'registries/reachable';
  switch (answer.kind) {
    case 'read':
      return ok(line, say('registries.read', host, repository, withCredentials(answer.credentials), policy));
    case 'unknown':
      return warning(
        line,
        say('registries.unknown', host, withCredentials(answer.credentials), repository, policy),
        say('registries.unknown.do'),
      );
    case 'postponed':
      return warning(line, say('registries.failed', host, answer.why, policy), say('registries.postponed.do'));
    case 'late':
      return failed(line, say('registries.late', host, repository, policy), say('registries.late.do'));
    case 'failed':
      return failed(line, say('registries.failed', host, answer.why, policy), say('registries.failed.do'));
  }
}

function withCredentials(source: string): Said {
  return source === 'anonymous' ? say('registries.anonymously') : say('registries.with', source);
}
