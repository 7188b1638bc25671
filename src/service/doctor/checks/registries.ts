import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';

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
      ? [skipped('registries/reachable', 'no policy names a registry')]
      : probes.map((probe) => ({ ...evaluateProbe(probe), subject: probe.host }))),
    ...(notAsked > 0
      ? [
          skipped(
            'registries/not-asked',
            `${notAsked} more were not asked, so that a report costs few requests`,
            'image-watcher check NAMESPACE/NAME asks for one policy',
          ),
        ]
      : []),
  ],
};

function evaluateProbe({ host, repository, policy, answer }: RegistryProbe): Finding {
  const line = 'registries/reachable';
  switch (answer.kind) {
    case 'read':
      return ok(line, `${host}: ${repository} is read ${withCredentials(answer.credentials)} (policy ${policy})`);
    case 'unknown':
      return warning(
        line,
        `${host} answers ${withCredentials(answer.credentials)}, but does not know ${repository} (policy ${policy})`,
        'correct spec.image, or give credentials that may see it: some registries hide a repository from others',
      );
    case 'postponed':
      return warning(
        line,
        `${host}: ${answer.why} (policy ${policy})`,
        'wait, and run doctor again; requestsPerSecond limits the requests to a registry',
      );
    case 'late':
      return failed(
        line,
        `${host}: ${repository} was not answered in time (policy ${policy})`,
        'check the network between the workers and the registry, and a proxy in between',
      );
    case 'failed':
      return failed(
        line,
        `${host}: ${answer.why} (policy ${policy})`,
        'check the network, registries[].caFile, insecure, and the credentials that the message names',
      );
  }
}

function withCredentials(source: string): string {
  return source === 'anonymous' ? 'anonymously' : `with ${source}`;
}
