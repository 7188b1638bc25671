/** Finds the repository of the CI system that an image is rebuilt from. Pure. */
import type { CiSystem, TriggerAction } from '../../core/model/base-policy.ts';
import { hashId } from '../../core/model/push-event.ts';
import { matchesText } from '../../core/model/repository-pattern.ts';
import { systems } from './systems/index.ts';

/** The project to rebuild. `project` is absent for systems that have none; they get the source as the image names it. */
export type FoundProject = { readonly project?: string } | { readonly problem: string };

const namesSource = '$source';
const segment = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const maxLength = 255;

/**
 * The project of the policy, or that of the image's source. The builder of an image writes its source. It therefore counts only if it is on the host of the CI
 * system that the policy names, and only its path is used.
 */
export function findProject(action: Pick<TriggerAction, 'ci' | 'sources'>, source: string | undefined): FoundProject {
  const { ci } = action;
  const { project } = ci;
  if (project === undefined) return {};
  if (project !== namesSource) return { project };
  if (source === undefined)
    return {
      problem:
        'the image does not say which source it is built from: let the build write the annotation org.opencontainers.image.source, or name the repository in the policy',
    };
  const found = parseSource(source);
  const host = hostOf(ci);
  if (found === undefined)
    return { problem: `the image names a source that is no address of a repository: ${JSON.stringify(source.slice(0, maxLength))}` };
  if (found.host !== host) return { problem: `the image is built from a source on ${found.host}, and the policy calls ${host}` };
  const path = projectOf(ci, found.path);
  if (path === undefined)
    return { problem: `the image names a source without a repository: ${JSON.stringify(source.slice(0, maxLength))}` };
  return maySource(action, path)
    ? { project: path }
    : { problem: `the image names ${path} as its source, which is none of "sources" of the action` };
}

/** Whether the action may rebuild a repository that an image names. */
export function maySource({ sources }: Pick<TriggerAction, 'sources'>, project: string): boolean {
  return sources === undefined || sources.some((pattern) => matchesText(pattern, project));
}

/** Whether a text may be the path of a repository that an image names. */
export function isProject(text: string): boolean {
  return text.length <= maxLength && text.split('/').every((part) => segment.test(part));
}

/** The identity of a pipeline, regardless of its Secret. Two pipelines of a policy may have the same source. */
export function pipelineOf(ci: CiSystem): string {
  const { system, project = '', name = '', ref = '' } = ci;
  return hashId([system, addressOf(ci), project, name, ref]);
}

/** The address of the system, without a trailing slash. */
export function addressOf({ system, url = systems[system].publicUrl ?? '' }: CiSystem): string {
  return url.replace(/\/+$/, '');
}

/** The host on which the system keeps repositories, for example github.com for api.github.com. */
function hostOf(ci: CiSystem): string | undefined {
  const host = URL.parse(addressOf(ci))?.host;
  return ci.system.startsWith('github') ? host?.replace(/^api\./, '') : host;
}

/** Parses the source of an image: `https://github.com/shop/web.git`, `git+https://…`, `git@github.com:shop/web.git`. */
function parseSource(source: string): { readonly host: string; readonly path: string } | undefined {
  const scp = /^(?:[A-Za-z0-9._-]+@)([A-Za-z0-9.-]+):(?!\/\/)([^:\s]+)$/.exec(source);
  if (scp?.[1] !== undefined && scp[2] !== undefined) return { host: scp[1].toLowerCase(), path: scp[2] };
  const url = URL.parse(source.replace(/^git\+/, ''));
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol)) return undefined;
  // The port of ssh is left out, because it differs from that of the API.
  return { host: url.protocol === 'ssh:' ? url.hostname : url.host, path: url.pathname };
}

/** The project in a path: `shop/web`. Projects of GitLab may be in nested groups. */
function projectOf({ system }: CiSystem, path: string): string | undefined {
  const [beforeDash = ''] = path.split('/-/');
  const all = beforeDash
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
  const segments = system === 'gitlab' ? all : all.slice(0, 2);
  const project = segments.join('/');
  return segments.length >= 2 && isProject(project) ? project : undefined;
}
