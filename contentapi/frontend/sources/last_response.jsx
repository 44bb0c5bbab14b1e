// The status line below a response: HTTP status, time, cost and what is left of the rate limits.
import { lastResponse } from "./requests.js";
import { useStore } from "./store.js";

// All that POST /graphql responds with. The reason of an error stands beside its name.
const NAMES = {
  200: "OK",
  294: "Partial success",
  400: "Bad request",
  401: "No valid credential",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  406: "Not acceptable",
  409: "Conflict",
  410: "Gone",
  413: "Too large",
  415: "Unsupported media type",
  422: "Invalid",
  429: "Too many requests",
  500: "Internal server error",
  503: "Unavailable",
};

export function LastResponse() {
  const last = useStore(lastResponse);
  return (
    <div className="last-response" role="status" aria-label="Last response">
      {last ? <Figures {...last} /> : "Execute an operation to see its cost and the rate limit."}
    </div>
  );
}

function Figures({ status, reason, milliseconds, cost, limits, retryAfter, requestId }) {
  return (
    <>
      <span className={status === 200 ? "good" : "bad"}>
        <b>{status}</b> {NAMES[status] ?? ""}
      </span>
      {reason && (
        <span className="reason" title={reason}>
          {reason}
        </span>
      )}
      <span>{milliseconds} ms</span>
      {cost !== undefined && (
        <span title="The number of objects that the operation may return">
          Cost <b>{cost.toLocaleString("en")}</b>
        </span>
      )}
      {limits.map(({ name, remaining, quota, window, reset }) => (
        <span key={name} title={`${quota} in ${window} seconds; more from ${reset} seconds on`}>
          Rate {limits.length > 1 ? `(${name}) ` : ""}
          <b>{remaining.toLocaleString("en")}</b> of {quota?.toLocaleString("en")} left
        </span>
      ))}
      {retryAfter && <span>Retry after {retryAfter} s</span>}
      <span className="request-id" title="X-Request-ID: the server's log has it, too">
        {requestId}
      </span>
    </>
  );
}
