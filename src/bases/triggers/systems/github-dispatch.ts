import { inputsOf, type CiSystemKind } from '../order.ts';
import { githubHeaders, githubUrl, publicGithub } from './github.ts';

/** Sends the event repository_dispatch of GitHub: https://docs.github.com/en/rest/repos/repos#create-a-repository-dispatch-event */
export const githubDispatch: CiSystemKind = {
  id: 'githubDispatch',
  publicUrl: publicGithub,
  build: (rebuild, { url, project, name, secret }) => ({
    url: githubUrl(url, project, 'dispatches'),
    headers: githubHeaders(secret),
    // GitHub accepts at most ten properties in client_payload.
    body: JSON.stringify({ event_type: name, client_payload: { ...inputsOf(rebuild), source: rebuild.source } }),
  }),
};
