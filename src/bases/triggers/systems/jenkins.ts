import { inputsOf, type CiSystemKind } from '../order.ts';

/** Starts a job of Jenkins with parameters: https://www.jenkins.io/doc/book/using/remote-access-api/ The Secret holds USER:TOKEN. */
export const jenkins: CiSystemKind = {
  id: 'jenkins',
  build(rebuild, { url, name, secret }) {
    const job = name
      .split('/')
      .map((part) => `job/${encodeURIComponent(part)}`)
      .join('/');
    const form = new URLSearchParams({ ...inputsOf(rebuild), source: rebuild.source });
    return {
      url: new URL(`${url}/${job}/buildWithParameters`),
      headers: {
        authorization: `Basic ${Buffer.from(secret).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form.toString(),
    };
  },
};
