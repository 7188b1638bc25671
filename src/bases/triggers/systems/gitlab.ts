import { inputsOf, type CiSystemKind } from '../order.ts';

/** Calls a pipeline trigger of GitLab: https://docs.gitlab.com/ci/triggers/ */
export const gitlab: CiSystemKind = {
  id: 'gitlab',
  publicUrl: 'https://gitlab.com',
  build(rebuild, { url, project, ref, secret }) {
    const form = new URLSearchParams({ token: secret, ref });
    for (const [name, value] of Object.entries(inputsOf(rebuild))) form.set(`variables[${name.toUpperCase()}]`, value);
    return {
      url: new URL(`${url}/api/v4/projects/${encodeURIComponent(project)}/trigger/pipeline`),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    };
  },
};
