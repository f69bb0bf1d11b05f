/**
 * Sends a request to the sandbox. @param {string} path below `/_sandbox/` @param {string} [method] @param {unknown} [body]
 * @returns {Promise<unknown>} the parsed JSON of the response; undefined for a 404. @throws Error with the sandbox's message.
 */
export const fetchJson = async (path, method = "GET", body = undefined) => {
  const response = await fetch(`/_sandbox/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (response.status === 404) return undefined;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
};
