/** What is asked before anything is changed: nothing that exists may be touched, and nothing that somebody else has created is deleted. */
import { mark, names, namespaces } from './objects.ts';

/** A program with its arguments, and its standard input. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string;
}

/** A question; the answer says why nothing may be done, or (undefined) that all is well. */
export interface Check extends Command {
  readonly refuse: (output: string) => string | undefined;
}

const lists = { kind: ['get', 'clusters'], k3d: ['cluster', 'list', '--no-headers'] } as const;
const hasName = (output: string) => output.split('\n').some((line) => line.split(/\s/)[0] === names.cluster);

/** No cluster has the name. */
export function noCluster(program: 'kind' | 'k3d'): Check {
  return {
    program,
    args: lists[program],
    refuse: (output) =>
      hasName(output)
        ? `there is a cluster ${names.cluster} already: if it is that of an earlier run, remove it with --delete, and begin again; otherwise it stays as it is`
        : undefined,
  };
}

/** There is one. */
export function hasCluster(program: 'kind' | 'k3d'): Check {
  return {
    program,
    args: lists[program],
    refuse: (output) => (hasName(output) ? undefined : `there is no cluster ${names.cluster}: nothing is deleted`),
  };
}

/** The namespace of this name, if it has the mark. */
export function own(namespace: string): string[] {
  return ['--selector', `${mark.key}=${mark.value}`, '--field-selector', `metadata.name=${namespace}`];
}

/** kubectl, for the cluster of a plan. */
export type Kubectl = (...args: string[]) => Command;

/** The cluster has the mark. */
export function marked(k: Kubectl): Check {
  return {
    ...k('get', 'nodes', '--selector', `${mark.key}=${mark.value}`, '--output', 'name'),
    refuse: (output) =>
      output.includes('node/') ? undefined : `npm run kind has not created the cluster ${names.cluster}: nothing is deleted`,
  };
}

/** None of the namespaces exists. */
export function noNamespaces(k: Kubectl): Check {
  return {
    ...k('get', 'namespaces', ...namespaces, '--ignore-not-found', '--output', 'name'),
    refuse(output) {
      const found = output.split('\n').filter((line) => line !== '');
      if (found.length === 0) return undefined;
      return `the cluster has ${found.join(', ')}, which would be changed: if they are of an earlier run, remove them with --delete; otherwise choose another cluster`;
    },
  };
}

/** image-watcher has never been installed. */
export function noDefinition(k: Kubectl): Check {
  return {
    ...k('get', 'crd', 'imagepolicies.operator.technomad.dev', '--ignore-not-found', '--output', 'name'),
    refuse: (output) =>
      output.trim() === ''
        ? undefined
        : 'the cluster has the definition of ImagePolicy: image-watcher is installed, or was, and would be changed; choose another cluster, or delete the definition, which deletes all policies',
  };
}

/** The namespace of the service has the mark. */
export function markedNamespace(k: Kubectl): Check {
  return {
    ...k('get', 'namespaces', ...own(names.service), '--output', 'name'),
    refuse: (output) =>
      output.includes(`namespace/${names.service}`)
        ? undefined
        : `npm run kind has not created the namespace ${names.service} there: nothing is deleted`,
  };
}
