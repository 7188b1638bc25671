/** What `npm run kind` does, as a list of steps: a pure function of its options. */
import { stringify } from 'yaml';
import { type Check, type Command, hasCluster, marked, markedNamespace, noCluster, noDefinition, noNamespaces, own } from './checks.ts';
import {
  chartValues,
  examplePolicy,
  exampleWorkload,
  kindCluster,
  mark,
  namespaceObjects,
  names,
  namespaces,
  pullHost,
  pushHost,
  receiverSecret,
  registryObjects,
} from './objects.ts';

/** Where image-watcher is tried: in a new cluster of kind or k3d, or in one that there is, by its context. */
export type Where = 'kind' | 'k3d' | { readonly context: string };

export interface Options {
  readonly where: Where;
  /** The name of the image to build. Required where it has to be pushed to a registry, from which the nodes of an existing cluster pull it. */
  readonly image?: string;
  /** The kubeconfig of a new cluster: that of the user stays as it is. */
  readonly kubeconfig: string;
  /** What the registry proves itself with. */
  readonly secret: string;
  /** The text of README.md. */
  readonly readme: string;
}

export interface Step {
  /** What it does, as a heading. */
  readonly title: string;
  /** Answered before the commands. */
  readonly checks?: readonly Check[];
  readonly commands?: readonly Command[];
}

/** A program that is needed. */
export interface Tool {
  readonly program: string;
  readonly link: string;
}

const docker = { program: 'docker', link: 'https://docs.docker.com/get-docker/' };
const loaders = {
  kind: { program: 'kind', link: 'https://kind.sigs.k8s.io/docs/user/quick-start/#installation' },
  k3d: { program: 'k3d', link: 'https://k3d.io/stable/#installation' },
  minikube: { program: 'minikube', link: 'https://minikube.sigs.k8s.io/docs/start/' },
};
const kubectl = { program: 'kubectl', link: 'https://kubernetes.io/docs/tasks/tools/' };
const helm = { program: 'helm', link: 'https://helm.sh/docs/intro/install/' };

/** The programs that a plan calls. */
export function toolsOf({ where }: Options): readonly Tool[] {
  const how = loaderOf(where);
  return [docker, ...(how === 'shared' || how === 'push' ? [] : [loaders[how]]), kubectl, helm];
}

const localImage = `${names.cluster}:try`;

/** How the nodes get the image: from the machine's Docker, or from a registry. */
export function loaderOf(where: Where): 'kind' | 'k3d' | 'minikube' | 'shared' | 'push' {
  if (typeof where === 'string') return where;
  const { context } = where;
  if (context.startsWith('kind-')) return 'kind';
  if (context.startsWith('k3d-')) return 'k3d';
  if (context === 'minikube') return 'minikube';
  return ['docker-desktop', 'rancher-desktop', 'orbstack'].includes(context) ? 'shared' : 'push';
}

/** What is wrong with the options; undefined where nothing is. */
export function wrongOptions({ where, image }: Pick<Options, 'where' | 'image'>): string | undefined {
  const pushes = loaderOf(where) === 'push';
  if (pushes && image === undefined)
    return 'the nodes of this cluster have to pull the image: name it with --image, in a registry that you may push to, such as --image registry.example.com/me/image-watcher:try';
  if (image !== undefined && !/^[^\s]+:[\w.-]+$/.test(image.replace(/^.*\//, 'x/'))) return `--image is REPOSITORY:TAG, not "${image}"`;
  return undefined;
}

/** All steps to a cluster in which a push has changed a Deployment. */
export function planInstallation(options: Options): readonly Step[] {
  const { where, secret, readme } = options;
  const image = options.image ?? localImage;
  const k = (...args: string[]): Command => ({ program: 'kubectl', args: [...accessOf(options), ...args] });
  const apply = (...objects: (object | string)[]): Command => ({
    ...k('apply', '--filename', '-'),
    input: objects
      .map((object) => (typeof object === 'string' ? object : stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })))
      .join('---\n'),
  });
  const push = (name: string, from: string, tag: string) =>
    k(
      'run',
      name,
      '--namespace',
      names.registry,
      '--rm',
      '--attach',
      '--restart=Never',
      '--image=gcr.io/go-containerregistry/crane',
      '--',
      'copy',
      '--insecure',
      from,
      `${pushHost}/shop/web:${tag}`,
    );
  const inExample = ['--namespace', names.example];
  const nothingExists = { title: 'Check that nothing that exists would be changed', checks: [noNamespaces(k), noDefinition(k)] };
  return [
    ...(isNew(where) ? clusterSteps(options) : [nothingExists]),
    { title: `Build the image ${image} from this checkout`, commands: [{ program: 'docker', args: ['build', '--tag', image, '.'] }] },
    ...loadSteps(options, image),
    { title: `Create the namespaces ${namespaces.join(', ')}`, commands: [apply(...namespaceObjects)] },
    {
      title: 'Start a registry in the cluster, which announces every push to image-watcher',
      commands: [
        apply(...registryObjects(secret)),
        k('rollout', 'status', 'deployment/registry', '--namespace', names.registry, '--timeout=5m'),
      ],
    },
    {
      title: 'Install the chart',
      commands: [
        apply(receiverSecret(secret)),
        {
          program: 'helm',
          args: [
            'install',
            'image-watcher',
            './charts/image-watcher',
            ...helmAccessOf(options),
            '--namespace',
            names.service,
            '--values',
            '-',
            '--wait',
            '--timeout',
            '10m',
          ],
          input: stringify(chartValues(image)),
        },
        k('wait', '--for=condition=Established', 'crd/imagepolicies.operator.technomad.dev', '--timeout=2m'),
      ],
    },
    {
      title: "Push version 1.0.0 of shop/web, and apply the README's example",
      commands: [
        push('push-1-0-0', 'registry.k8s.io/pause:3.9', '1.0.0'),
        apply(exampleWorkload(), examplePolicy(readme)),
        k('wait', '--for=condition=Ready', 'ipol/web', ...inExample, '--timeout=3m'),
        k('get', 'ipol', 'web', ...inExample),
      ],
    },
    {
      title: 'Push version 1.1.0, and wait until the Deployment runs it',
      commands: [
        push('push-1-1-0', 'registry.k8s.io/pause:3.10', '1.1.0'),
        k(
          'wait',
          `--for=jsonpath={.spec.template.spec.containers[0].image}=${pullHost}/shop/web:1.1.0`,
          'deployment/web',
          ...inExample,
          '--timeout=2m',
        ),
        k('wait', '--for=condition=Ready', 'ipol/web', ...inExample, '--timeout=3m'),
        k('get', 'ipol', 'web', ...inExample),
        k('get', 'events', ...inExample, '--field-selector', 'reason=Updated'),
      ],
    },
  ];
}

/** The removal of what that has created, and of nothing else. */
export function planRemoval(options: Options): readonly Step[] {
  const { where } = options;
  const k = (...args: string[]): Command => ({ program: 'kubectl', args: [...accessOf(options), ...args] });
  if (where === 'kind') {
    return [
      { title: 'Check that npm run kind has created the cluster', checks: [hasCluster('kind'), marked(k)] },
      {
        title: `Delete the cluster ${names.cluster}`,
        commands: [{ program: 'kind', args: ['delete', 'cluster', '--name', names.cluster, '--kubeconfig', options.kubeconfig] }],
      },
    ];
  }
  if (where === 'k3d') {
    return [
      { title: 'Check that npm run kind has created the cluster', checks: [hasCluster('k3d'), marked(k)] },
      { title: `Delete the cluster ${names.cluster}`, commands: [{ program: 'k3d', args: ['cluster', 'delete', names.cluster] }] },
    ];
  }
  const remove = (namespace: string) => k('delete', 'namespaces', ...own(namespace));
  return [
    { title: 'Check that npm run kind has created the namespaces', checks: [markedNamespace(k)] },
    { title: 'Delete the example, while the service is there', commands: [remove(names.example)] },
    {
      title: 'Uninstall the chart. The definitions stay, because deleting them deletes all policies',
      commands: [
        {
          program: 'helm',
          args: ['uninstall', 'image-watcher', ...helmAccessOf(options), '--namespace', names.service, '--ignore-not-found', '--wait'],
        },
      ],
    },
    { title: 'Delete the other namespaces', commands: [remove(names.registry), remove(names.service)] },
  ];
}

function isNew(where: Where): where is 'kind' | 'k3d' {
  return typeof where === 'string';
}

function contextOf(where: Where): string {
  return isNew(where) ? `${where}-${names.cluster}` : where.context;
}

function accessOf({ where, kubeconfig }: Options): string[] {
  return [...(isNew(where) ? ['--kubeconfig', kubeconfig] : []), '--context', contextOf(where)];
}

function helmAccessOf({ where, kubeconfig }: Options): string[] {
  return [...(isNew(where) ? ['--kubeconfig', kubeconfig] : []), '--kube-context', contextOf(where)];
}

function clusterSteps({ where, kubeconfig }: Options): Step[] {
  const title = `Create the cluster ${names.cluster}, with a kubeconfig of its own`;
  const label = `${mark.key}=${mark.value}`;
  if (where === 'kind') {
    const args = ['create', 'cluster', '--name', names.cluster, '--kubeconfig', kubeconfig, '--config', '-', '--wait', '2m'];
    return [{ title, checks: [noCluster('kind')], commands: [{ program: 'kind', args, input: stringify(kindCluster) }] }];
  }
  return [
    {
      title,
      checks: [noCluster('k3d')],
      commands: [
        {
          program: 'k3d',
          args: [
            'cluster',
            'create',
            names.cluster,
            '--k3s-node-label',
            `${label}@server:0`,
            '--kubeconfig-update-default=false',
            '--wait',
            '--timeout',
            '5m',
          ],
        },
        { program: 'k3d', args: ['kubeconfig', 'write', names.cluster, '--output', kubeconfig] },
      ],
    },
  ];
}

function loadSteps({ where }: Options, image: string): Step[] {
  const name = contextOf(where).replace(/^(?:kind|k3d)-/, '');
  const loads: Readonly<Record<ReturnType<typeof loaderOf>, Step | undefined>> = {
    kind: {
      title: 'Load the image into the cluster',
      commands: [{ program: 'kind', args: ['load', 'docker-image', image, '--name', name] }],
    },
    k3d: { title: 'Load the image into the cluster', commands: [{ program: 'k3d', args: ['image', 'import', image, '--cluster', name] }] },
    minikube: { title: 'Load the image into the cluster', commands: [{ program: 'minikube', args: ['image', 'load', image] }] },
    shared: undefined,
    push: { title: 'Push the image, for the nodes', commands: [{ program: 'docker', args: ['push', image] }] },
  };
  const load = loads[loaderOf(where)];
  return load === undefined ? [] : [load];
}
