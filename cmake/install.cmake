# filled by install step
