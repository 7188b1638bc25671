/** The names of the commands outside of wings, in the order of the overview, with one line about each, known before the command is loaded. */
export const summaries = {
  serve: 'receive webhooks and update workloads',
  doctor: 'check a running installation: Redis, permissions, certificates, webhooks, registries, policies, clocks',
  init: 'write policies for what runs',
  lint: 'check manifests of policies, and what they would do in a cluster',
  simulate: 'show what a payload of a registry would do, offline',
  get: 'show policies: what runs, what is the latest, what is blocked and why',
  explain: 'explain why a policy does or does not update its workloads',
  diff: 'show what would change now, as a diff of images per workload',
  run: 'reconcile policies once, without an installation: what would it do, or do it',
  events: 'show the pushes that were received, and the result of each',
  replay: 'handle a push again, as a new event',
  consents: 'list, and write, the consents that policies with targets in other namespaces need',
  check: 'reconcile a policy now, and print the result',
  approve: 'approve the pending update of a policy',
  reject: 'reject the pending update of a policy',
  rollback: 'roll back to the previous image, or to a tag',
  suspend: 'suspend a policy: it is not reconciled, and its workloads are not changed',
  resume: 'resume a suspended policy',
  release: 'release holds: after a manual change, a rollback, a rejected image, a conflict with a GitOps tool',
  import: 'convert the settings of another updater into policies',
  'generate-password': 'create a Secret with a random password, unless it exists',
  completion: 'print the completion script of a shell',
  version: 'show the version of the program',
} as const;

export type CommandName = keyof typeof summaries;
