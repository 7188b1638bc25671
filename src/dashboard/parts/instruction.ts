/** Instructions inside of messages, for a page that has the buttons. Pure. */
import type { ActionName } from '../action-list.ts';

const approval =
  /: approve it with image-watcher approve (?:-n \S+ )?[^\s,]+, (?:or with the annotation \S+: \S+|on the dashboard, or with an annotation \S+|or on the dashboard)$/;
const annotation = /: annotate BaseImagePolicy \S+ with \S+: \S+$/;
const release = /(: | with the )annotation operator\.technomad\.dev\/release: "<time>"/g;

/** A message without the instruction for what the page has a button for, and with the command where it has none. `name`: `bipol/NAME` of a base. */
export function instructionFor(
  message: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  offers: (action: ActionName) => boolean,
): string {
  const released = message.replaceAll(release, () => (offers('release') ? '' : ` with image-watcher release ${refOf(namespace, name)}`));
  if (offers('approve')) return released.replace(approval, '').replace(annotation, '');
  return released.replace(annotation, () => `: approve it with image-watcher approve ${refOf(namespace, name)}`);
}

/** A message on a page that has no buttons for its policy: with the command for what it asks for. */
export function commandedFor(message: string, policy: { readonly namespace: string; readonly name: string }): string {
  return instructionFor(message, policy, () => false);
}

/** The policy of a base as the commands name it. */
export function refOfBase({ namespace, name }: { readonly namespace: string; readonly name: string }): { namespace: string; name: string } {
  return { namespace, name: `bipol/${name}` };
}

/** A policy as the argument of a command. */
function refOf(namespace: string, name: string): string {
  return name.includes('/') ? `-n ${namespace} ${name}` : `${namespace}/${name}`;
}
