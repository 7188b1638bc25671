import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';

/** The connections to the service and the cluster, from the program that makes the report. */
export interface ServiceFacts {
  /** The version of the program that makes the report. */
  readonly version: string;
  /** The version of the program that answers at `/api/v1/doctor`, or why none answers. */
  readonly api: { readonly version: string } | { readonly why: string; readonly isRefused: boolean };
  /** Why the cluster cannot be reached; undefined if it can. */
  readonly cluster: string | undefined;
}

/** Checks that service and cluster can be reached. */
export const service: Check<ServiceFacts> = {
  id: 'service',
  lines: ['api', 'version', 'cluster'],
  evaluate: ({ version, api, cluster }) => [
    ...apiFindings({ version, api, cluster }),
    cluster === undefined
      ? ok('service/cluster', 'the cluster answers')
      : skipped(
          'service/cluster',
          `the cluster cannot be asked: ${cluster}`,
          'name a kubeconfig with --kubeconfig; certificates and the CustomResourceDefinition are not checked without',
        ),
  ],
};

function apiFindings({ version, api, cluster }: ServiceFacts): Finding[] {
  if (!('why' in api)) {
    return [
      ok('service/api', 'the service answers'),
      api.version === version
        ? ok('service/version', `service and command have the same version, ${version}`)
        : warning(
            'service/version',
            `the service has version ${api.version}, and this command ${version}: they may expect different definitions`,
            'use the command of the same version',
          ),
    ];
  }
  if (api.isRefused)
    return [
      skipped(
        'service/api',
        `the service does not report to you: ${api.why}`,
        'have somebody call it who may list imagepolicies in all namespaces',
      ),
    ];
  return [
    failed(
      'service/api',
      api.why,
      cluster !== undefined
        ? 'correct the access to the cluster first (service/cluster), because commands reach the service through it, or name the address of a service with --server'
        : 'check that workers run (kubectl get pods -l app.kubernetes.io/name=image-watcher -A), and name their namespace with --service-namespace, or the address of a service outside of the cluster with --server',
    ),
  ];
}
