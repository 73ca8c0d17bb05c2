"""Writes gymnasium.txt: transitions of three classic control tasks by Gymnasium itself.

    python make_gymnasium.py > gymnasium.txt

A line "G name" begins a game, "R state ..." an episode from that state (float64), "Y state ..." gives
the state in the middle of one (the tasks magnify rounding by the step), and
"S action reward terminated truncated observation ..." is one step.
"""
import gymnasium
import numpy as np

print(f"# tests/ref/rl/make_gymnasium.py, Gymnasium {gymnasium.__version__}")


def episode(env, seed, policy, most):
    env.reset(seed=seed)
    for i in range(most):
        if i % 20 == 0:
            print("Y" if i else "R", *(f"{float(v):.17g}" for v in env.unwrapped.state))
        action = int(policy(env.unwrapped.state))
        obs, reward, terminated, truncated, _ = env.step(action)
        print("S", action, f"{reward:g}", int(terminated), int(truncated),
              *(f"{v:.9g}" for v in obs))
        if terminated or truncated:
            return


rng = np.random.default_rng(1)
balance = lambda s: s[2] + 0.5 * s[3] + 0.05 * s[0] + 0.1 * s[1] > 0
print("G cartpole")
env = gymnasium.make("CartPole-v1")
episode(env, 100, balance, 500)
for seed in range(25):
    episode(env, seed, lambda s: rng.integers(2), 500)
print("G acrobot")
env = gymnasium.make("Acrobot-v1")
episode(env, 7, lambda s: 0 if s[2] > 0 else 2, 500)
episode(env, 7, lambda s: 1, 500)
for seed in range(4):
    episode(env, seed, lambda s: rng.integers(3), 40)
print("G mountaincar")
env = gymnasium.make("MountainCar-v0")
episode(env, 7, lambda s: 2 if s[1] > 0 else 0, 200)
episode(env, 8, lambda s: rng.integers(3), 200)
episode(env, 9, lambda s: 0, 60)
