def real_server():
    return None
